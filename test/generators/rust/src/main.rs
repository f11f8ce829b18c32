//! Uses the client that progenitor makes; test/generators.suite.ts says what a program does.
use std::{env, fmt::Debug, num::NonZeroU32};

progenitor::generate_api!(spec = "openapi.yaml", interface = Positional);
use types::{ErrorMessage, Login, NewName, UserFields};

const EMAIL: &str = "ada+lovelace@example.com";

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let users = client_with(&env::var("TOKEN").unwrap());

    let created = users.create_user(&fields("Ada", EMAIL)).await.unwrap();
    expect((created.status().as_u16(), &*created.name, &*created.email), (201, "Ada", EMAIL));
    expect(header("Location", &created), Some(format!("/users/{}", *created.id)));
    let mut ada = created.into_inner();
    let taken = users.create_user(&fields("Ada", EMAIL)).await;
    let message = format!("a user with email `{EMAIL}` already exists");
    expect_error(400, &message, Some("email_taken"), taken);
    let grace = users.create_user(&fields("Grace", "grace@example.com")).await.unwrap().into_inner();

    let read = users.read_user(&ada.id, None, None).await.unwrap();
    let etag = header("ETag", &read);
    expect(read.into_inner(), ada.clone());
    // The client takes a 304 for a response that the contract does not have.
    let same = users.read_user(&ada.id, None, etag.as_deref()).await.unwrap_err();
    expect(same.status().unwrap().as_u16(), 304);

    let rename = |name: &str| NewName { name: name.parse().unwrap() };
    users.rename_user(&ada.id, etag.as_deref(), None, &rename("Augusta")).await.unwrap();
    let changed = users.rename_user(&ada.id, etag.as_deref(), None, &rename("Ada")).await;
    expect_error(412, "the precondition in If-Match or If-None-Match failed", None, changed);
    ada.name = "Augusta".into();
    expect(users.read_user(&ada.id, None, None).await.unwrap().into_inner(), ada.clone());

    let all = users.list_users(None, None, None).await.unwrap();
    expect(all.into_inner(), vec![ada.clone(), grace.clone()]);
    let first = users.list_users(None, None, NonZeroU32::new(1)).await.unwrap();
    let link = header("Link", &first).unwrap();
    expect(first.into_inner(), vec![ada.clone()]);
    let (_, after) = link.split_once("after=").unwrap();
    let after = after[..24].parse().unwrap();
    let second = users.list_users(Some(&after), None, NonZeroU32::new(1)).await.unwrap();
    expect((header("Link", &second), second.into_inner()), (None::<String>, vec![grace]));

    let login = |email: &str| Login { email: email.parse().unwrap() };
    let token = users.login(&login(EMAIL)).await.unwrap().into_inner().token;
    let found = client_with(&token).list_users(None, Some(EMAIL), None).await.unwrap();
    expect(found.into_inner(), vec![ada.clone()]);
    let unknown = users.login(&login("nobody@example.com")).await;
    expect_error(401, "no user has this email", Some("email_not_found"), unknown);
    let refused = client_with("none").list_users(None, None, None).await;
    expect_error(401, "a valid bearer token is required", None, refused);

    users.delete_user(&ada.id, None, None).await.unwrap();
    let gone = users.read_user(&ada.id, None, None).await;
    expect_error(404, "no user has this id", Some("a_later_code"), gone);
}

fn fields(name: &str, email: &str) -> UserFields {
    UserFields { name: name.into(), email: email.into() }
}

fn client_with(token: &str) -> Client {
    let mut headers = reqwest::header::HeaderMap::new();
    headers.insert("Authorization", format!("Bearer {token}").parse().unwrap());
    let http = reqwest::Client::builder().default_headers(headers).build().unwrap();
    Client::new_with_client(&env::var("URL").unwrap(), http)
}

fn header<T>(name: &str, response: &ResponseValue<T>) -> Option<String> {
    response.headers().get(name).map(|value| value.to_str().unwrap().into())
}

/// The types of the client have no equality.
fn expect(actual: impl Debug, expected: impl Debug) {
    assert_eq!(format!("{actual:?}"), format!("{expected:?}"));
}

fn expect_error<T: Debug>(
    status: u16,
    message: &str,
    code: Option<&str>,
    result: Result<ResponseValue<T>, Error<ErrorMessage>>,
) {
    let Error::ErrorResponse(response) = result.unwrap_err() else { panic!("no response") };
    expect((response.status().as_u16(), &*response.message), (status, message));
    expect(response.code.as_deref(), code);
}
