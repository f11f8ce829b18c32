# Compiles if a source is newer than the output of the last build. Without the compiler, there must be an output, and packages.
if [ ! -x node_modules/.bin/tsc ]; then
  [ -e dist/src/main.js ] && [ -e node_modules ] && exit
  echo 'Its packages are not installed. Run: npm ci' >&2
  exit 1
fi
[ -e dist/src/main.js ] || echo 'Compiling (once, about 10 seconds)' >&2
# A folder is newer after a file in it was added or deleted.
sources='src scripts openapi.yaml package.json tsconfig.json node_modules/.package-lock.json'
[ -z "$(find $sources -newer dist/.built 2>&1)" ] || exec npm run --silent build
