# Runs the service, until Ctrl-C, with its log for people. After a change of TypeScript, openapi.yaml or the page, builds it
# again and restarts it; if the build fails, the service that runs stays.
# Not with `node --watch`: stopped right after a change, it starts the service once more and leaves it behind.
pretty=node_modules/.bin/pino-pretty
[ -x $pretty ] || { echo 'Its packages are not installed. Run: npm ci' >&2; exit 1; }
sums() { find openapi.yaml src scripts -type f ! -name '.*' ! -name openapi.ts -exec cksum {} +; }
build() {
  contract=$(cksum openapi.yaml)
  [ "$contract" = "$generated" ] || npm run --silent generate || return
  generated=$contract
  npm run --silent build && [ "$(sums)" = "$sources" ] # otherwise it is a mixture
}
sources= generated= service=
trap 'kill $service 2>/dev/null; exec 3>&-; wait; exit 0' INT TERM
# A pipe with a name: $! is then the service, and not what reads its log. That ends when this script and the service have.
pipe=$(mktemp -d)/log
mkfifo $pipe
$pretty --singleLine <$pipe &
exec 3>$pipe
rm -r ${pipe%/log}
while :; do
  new=$(sums)
  if [ "$new" != "$sources" ]; then
    sources=$new
    if build; then
      [ "$service" ] && kill $service 2>/dev/null && wait $service
      node dist/src/main.js >&3 3>&- &
      service=$!
    fi
  fi
  sleep 1
done
