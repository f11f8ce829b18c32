<?php
// Uses the client that openapi-generator makes for PHP; test/generators.suite.ts says what a program does.
use OpenAPI\Client\Api\TokensApi;
use OpenAPI\Client\Api\UsersApi;
use OpenAPI\Client\ApiException;
use OpenAPI\Client\Configuration;
use OpenAPI\Client\Model\Login;
use OpenAPI\Client\Model\NewName;
use OpenAPI\Client\Model\UserFields;

require 'GuzzleHttp/autoload.php'; // in Debian's php-guzzlehttp-guzzle
spl_autoload_register(function (string $class) {
    require 'api/lib/' . strtr(substr($class, strlen('OpenAPI\\Client\\')), '\\', '/') . '.php';
});

const EMAIL = 'ada+lovelace@example.com';
$users = clientWith(getenv('TOKEN'));

[$ada, $status, $headers] = $users->createUserWithHttpInfo(fields('Ada', EMAIL));
expect([201, 'Ada', EMAIL], [$status, $ada->getName(), $ada->getEmail()]);
$id = $ada->getId();
expect(["/users/$id"], $headers['Location']);
$taken = failure(fn () => $users->createUser(fields('Ada', EMAIL)));
expect([400, 'a user with email `' . EMAIL . '` already exists', 'email_taken'], refusal($taken));
$grace = $users->createUser(fields('Grace', 'grace@example.com'));

[$read, , $headers] = $users->readUserWithHttpInfo($id);
expect($ada, $read);
[$etag] = $headers['ETag'];
$same = failure(fn () => $users->readUser($id, null, $etag)); // the client takes a 304 for a failure
expect([304, [$etag]], [$same->getCode(), $same->getResponseHeaders()['ETag']]);

$users->renameUser($id, new NewName(['name' => 'Augusta']), $etag);
$changed = failure(fn () => $users->renameUser($id, new NewName(['name' => 'Ada']), $etag));
expect([412, 'the precondition in If-Match or If-None-Match failed', null], refusal($changed));
$ada->setName('Augusta');
expect($ada, $users->readUser($id));

expect([$ada, $grace], $users->listUsers());
[$first, , $headers] = $users->listUsersWithHttpInfo(1);
expect([$ada], $first);
preg_match('/after=(\w+)/', $headers['Link'][0], $match);
[$second, , $headers] = $users->listUsersWithHttpInfo(1, $match[1]);
expect([[$grace], false], [$second, isset($headers['Link'])]);

$tokens = new TokensApi(null, (new Configuration())->setHost(getenv('URL')));
$token = $tokens->login(new Login(['email' => EMAIL]))->getToken();
expect([$ada], clientWith($token)->listUsers(null, null, EMAIL));
$unknown = failure(fn () => $tokens->login(new Login(['email' => 'nobody@example.com'])));
expect([401, 'no user has this email', 'email_not_found'], refusal($unknown));
$refused = failure(fn () => clientWith('none')->listUsers());
expect([401, 'a valid bearer token is required', null], refusal($refused));

$users->deleteUser($id);
expect([404, 'no user has this id', 'a_later_code'], refusal(failure(fn () => $users->readUser($id))));

function clientWith(string $token): UsersApi
{
    return new UsersApi(null, (new Configuration())->setHost(getenv('URL'))->setAccessToken($token));
}

function fields(string $name, string $email): UserFields
{
    return new UserFields(['name' => $name, 'email' => $email]);
}

function failure(callable $call): ApiException
{
    try {
        $call();
    } catch (ApiException $failure) {
        return $failure;
    }
    throw new Exception('no failure');
}

function refusal(ApiException $failure): array
{
    $error = $failure->getResponseObject();
    return [$failure->getCode(), $error->getMessage(), $error->getCode()];
}

function expect(mixed $expected, mixed $actual): void
{
    if ($expected != $actual) throw new Exception(json_encode([$expected, $actual]));
}
