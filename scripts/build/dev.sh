# Runs the service, until Ctrl-C. After a change of TypeScript, openapi.yaml or the page, builds it again and restarts it;
# if the build fails, the service that runs stays.
# Not with `node --watch`: stopped right after a change, it starts the service once more and leaves it behind.
sums() { find openapi.yaml src scripts -type f ! -name '.*' ! -name openapi.ts -exec cksum {} +; }
build() {
  contract=$(cksum openapi.yaml)
  [ "$contract" = "$generated" ] || npm run --silent generate || return
  generated=$contract
  npm run --silent build && [ "$(sums)" = "$sources" ] # otherwise it is a mixture
}
sources= generated= service=
trap 'kill $service 2>/dev/null; wait; exit 0' INT TERM
while :; do
  new=$(sums)
  if [ "$new" != "$sources" ]; then
    sources=$new
    if build; then
      [ "$service" ] && kill $service 2>/dev/null && wait $service
      node dist/src/main.js &
      service=$!
    fi
  fi
  sleep 1
done
