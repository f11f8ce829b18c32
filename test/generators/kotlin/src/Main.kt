// Uses the client that openapi-generator makes for Kotlin; test/generators.suite.ts says what a program does.
import api.apis.TokensApi
import api.apis.UsersApi
import api.infrastructure.ApiClient
import api.infrastructure.ApiResponse
import api.infrastructure.ClientError
import api.infrastructure.Serializer
import api.infrastructure.Success
import api.models.ErrorMessage
import api.models.Login
import api.models.NewName
import api.models.User
import api.models.UserFields

const val EMAIL = "ada+lovelace@example.com"
val URL: String = System.getenv("URL")

fun main() {
    ApiClient.accessToken = System.getenv("TOKEN")
    val users = UsersApi(URL)
    val tokens = TokensApi(URL)

    val created = users.createUserWithHttpInfo(UserFields("Ada", EMAIL))
    expect(201, created.statusCode)
    val ada = data(created)
    expect(User(ada.id, "Ada", EMAIL), ada)
    expect("/users/${ada.id}", header("Location", created))
    val taken = users.createUserWithHttpInfo(UserFields("Ada", EMAIL))
    expectError(400, "a user with email `$EMAIL` already exists", taken, "email_taken")
    val grace = users.createUser(UserFields("Grace", "grace@example.com"))

    val read = users.readUserWithHttpInfo(ada.id, null, null)
    expect(ada, data(read))
    val etag = header("ETag", read)
    // readUser would throw a ServerException: the client takes a 304 for a failure of the server.
    val same = users.readUserWithHttpInfo(ada.id, null, etag)
    expect(304, same.statusCode)
    expect(etag, header("ETag", same))

    users.renameUser(ada.id, NewName("Augusta"), ifMatch = etag)
    val changed = users.renameUserWithHttpInfo(ada.id, NewName("Ada"), etag, null)
    expectError(412, "the precondition in If-Match or If-None-Match failed", changed)
    val augusta = ada.copy(name = "Augusta")
    expect(augusta, users.readUser(ada.id))

    expect(listOf(augusta, grace), users.listUsers())
    val first = users.listUsersWithHttpInfo(1, null, null)
    expect(listOf(augusta), data(first))
    val after = Regex("after=(\\w+)").find(header("Link", first)!!)!!.groupValues[1]
    val second = users.listUsersWithHttpInfo(1, after, null)
    expect(listOf(grace), data(second))
    expect(null, header("Link", second))

    ApiClient.accessToken = tokens.login(Login(EMAIL)).token
    expect(listOf(augusta), users.listUsers(email = EMAIL))
    val unknown = tokens.loginWithHttpInfo(Login("nobody@example.com"))
    expectError(401, "no user has this email", unknown, "email_not_found")
    ApiClient.accessToken = null
    val refused = users.listUsersWithHttpInfo(null, null, null)
    expectError(401, "a valid bearer token is required", refused)

    ApiClient.accessToken = System.getenv("TOKEN")
    users.deleteUser(ada.id)
    val gone = users.readUserWithHttpInfo(ada.id, null, null)
    expectError(404, "no user has this id", gone, "a_later_code")
}

fun <T : Any> data(response: ApiResponse<T?>): T = (response as Success<T?>).data!!

fun header(name: String, response: ApiResponse<*>): String? = response.headers[name.lowercase()]?.first()

fun expect(expected: Any?, actual: Any?) = check(expected == actual) { "expected $expected, got $actual" }

fun expectError(status: Int, message: String, response: ApiResponse<*>, code: String? = null) {
    expect(status, response.statusCode)
    val body = (response as ClientError<*>).body as String
    expect(ErrorMessage(message, code), Serializer.moshi.adapter(ErrorMessage::class.java).fromJson(body))
}
