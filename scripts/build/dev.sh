# Runs the service, and restarts it after a change of TypeScript, openapi.yaml or the page, until Ctrl-C.
# Not with `node --watch`: stopped right after a change, it starts the service once more and leaves it behind.
sums() { find "$@" -type f ! -name '.*' -exec cksum {} +; }
program= service= contract=$(sums openapi.yaml) page=$(sums openapi.yaml src/docs)
npm run --silent build || exit
tsc --build --watch --preserveWatchOutput &
compiler=$!
trap 'kill $compiler $service 2>/dev/null; wait; exit 0' INT TERM
while :; do
  new=$(sums openapi.yaml dist/src dist/docs dist/openapi.json)
  if [ "$new" != "$program" ]; then
    program=$new
    [ "$service" ] && kill $service 2>/dev/null && wait $service
    node dist/src/main.js &
    service=$!
  fi
  sleep 1
  new=$(sums openapi.yaml src/docs)
  [ "$new" != "$page" ] && page=$new && node dist/scripts/build/assets.js
  new=$(sums openapi.yaml)
  [ "$new" != "$contract" ] && contract=$new && npm run --silent generate
done
