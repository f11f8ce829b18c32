# Runs the service, and restarts it after a change of TypeScript, openapi.yaml or the page, until Ctrl-C.
npm run --silent build || exit
tsc --build --watch --preserveWatchOutput &
compiler=$!
node --watch-path=dist --watch-preserve-output dist/src/main.js &
service=$!
followed=$(mktemp)
trap 'kill $compiler $service 2>/dev/null; wait; rm "$followed"; exit 0' INT TERM
while sleep 1; do
  [ -z "$(find openapi.yaml src/docs -newer "$followed")" ] && continue
  touch "$followed"
  node dist/scripts/build-assets.js && [ openapi.yaml -nt src/contract/openapi.ts ] && npm run --silent generate
done
