// Uses the client that openapi-generator makes for Java; test/generators.suite.ts says what a program does.
import api.*;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.regex.Pattern;

public class Main {
  static final String EMAIL = "ada+lovelace@example.com";

  public static void main(String[] args) throws ApiException {
    var users = new UsersApi(clientWith(System.getenv("TOKEN")));
    var tokens = new TokensApi(clientWith("none"));

    var created = users.createUserWithHttpInfo(new UserFields().name("Ada").email(EMAIL));
    expect(201, created.getStatusCode());
    var ada = created.getData();
    expect(List.of("Ada", EMAIL), List.of(ada.getName(), ada.getEmail()));
    expect("/users/" + ada.getId(), header("Location", created.getHeaders()));
    expectError(400, "a user with email `" + EMAIL + "` already exists", "email_taken",
        () -> users.createUser(new UserFields().name("Ada").email(EMAIL)));
    var grace = users.createUser(new UserFields().name("Grace").email("grace@example.com"));

    var read = users.readUserWithHttpInfo(ada.getId(), null, null);
    expect(ada, read.getData());
    var etag = header("ETag", read.getHeaders());
    var same = expectError(304, null, null, () -> users.readUser(ada.getId(), null, etag));
    expect(etag, header("ETag", same.getResponseHeaders()));

    users.renameUser(ada.getId(), new NewName().name("Augusta"), etag, null);
    expectError(412, "the precondition in If-Match or If-None-Match failed", "precondition_failed",
        () -> users.renameUser(ada.getId(), new NewName().name("Ada"), etag, null));
    ada.setName("Augusta");
    expect(ada, users.readUser(ada.getId(), null, null));

    expect(List.of(ada, grace), users.listUsers(null, null, null));
    var first = users.listUsersWithHttpInfo(1, null, null);
    expect(List.of(ada), first.getData());
    var after = Pattern.compile("after=(\\w+)").matcher(header("Link", first.getHeaders()));
    expect(true, after.find());
    var second = users.listUsersWithHttpInfo(1, after.group(1), null);
    expect(List.of(grace), second.getData());
    expect(null, header("Link", second.getHeaders()));

    var token = tokens.login(new Login().email(EMAIL)).getToken();
    expect(List.of(ada), new UsersApi(clientWith(token)).listUsers(null, null, EMAIL));
    expectError(401, "no user has this email", "email_not_found",
        () -> tokens.login(new Login().email("nobody@example.com")));
    expectError(401, "a valid bearer token is required", "unauthorized",
        () -> new UsersApi(clientWith("none")).listUsers(null, null, null));

    users.deleteUser(ada.getId(), null, null);
    expectError(404, "no user has this id", "a_later_code",
        () -> users.readUser(ada.getId(), null, null));
  }

  static ApiClient clientWith(String token) {
    var client = new ApiClient().setBasePath(System.getenv("URL"));
    client.setBearerToken(token);
    return client;
  }

  static String header(String name, Map<String, List<String>> headers) {
    return headers.entrySet().stream().filter(header -> header.getKey().equalsIgnoreCase(name))
        .map(header -> header.getValue().get(0)).findFirst().orElse(null);
  }

  static void expect(Object expected, Object actual) {
    if (Objects.equals(expected, actual)) return;
    throw new AssertionError("expected " + expected + ", got " + actual);
  }

  static ApiException expectError(int status, String message, String code, Call call) {
    try {
      call.run();
    } catch (ApiException error) {
      expect(status, error.getCode());
      var body = JSON.<ErrorMessage>deserialize(error.getResponseBody(), ErrorMessage.class);
      expect(message, body == null ? null : body.getMessage());
      expect(code, body == null ? null : body.getCode());
      return error;
    }
    throw new AssertionError("expected " + status);
  }

  interface Call {
    void run() throws ApiException;
  }
}
