// Uses the client that oapi-codegen makes; test/generators.suite.ts says what a program does.
package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"reflect"
	"regexp"
	"strings"

	. "users/api"
)

const email = "ada+lovelace@example.com"

var background = context.Background()

func main() {
	users := clientWith(os.Getenv("TOKEN"))

	created := must(users.CreateUserWithResponse(background, fields("Ada", email)))
	expect(created.StatusCode(), 201)
	ada := *created.JSON201
	expect([]string{ada.Name, ada.Email}, []string{"Ada", email})
	expect(created.Headers201.Location, "/users/"+ada.Id)
	taken := must(users.CreateUserWithResponse(background, fields("Ada", email)))
	expect(taken.StatusCode(), 400)
	expect(taken.JSON400.Message, "a user with email `"+email+"` already exists")
	expect(*taken.JSON400.Code, "email_taken")
	grace := *must(users.CreateUserWithResponse(background, fields("Grace", "grace@example.com"))).JSON201

	read := must(users.ReadUserWithResponse(background, ada.Id, nil))
	expect(*read.JSON200, ada)
	etag := read.Headers200.ETag
	same := must(users.ReadUserWithResponse(background, ada.Id, &ReadUserParams{IfNoneMatch: &etag}))
	expect(same.StatusCode(), 304)
	expect(same.Headers304.ETag, etag)

	match := &RenameUserParams{IfMatch: &etag}
	expect(must(users.RenameUserWithResponse(background, ada.Id, match, NewName{Name: "Augusta"})).StatusCode(), 204)
	changed := must(users.RenameUserWithResponse(background, ada.Id, match, NewName{Name: "Ada"}))
	expect(changed.StatusCode(), 412)
	expect(changed.JSON412.Message, "the precondition in If-Match or If-None-Match failed")
	expect(*changed.JSON412.Code, "precondition_failed")
	ada.Name = "Augusta"
	expect(*must(users.ReadUserWithResponse(background, ada.Id, nil)).JSON200, ada)

	list := must(users.ListUsersWithResponse(background, nil))
	expect(*list.JSON200, []User{ada, grace})
	limit := int32(1)
	first := must(users.ListUsersWithResponse(background, &ListUsersParams{Limit: &limit}))
	expect(*first.JSON200, []User{ada})
	after := regexp.MustCompile(`after=(\w+)`).FindStringSubmatch(*first.Headers200.Link)[1]
	second := must(users.ListUsersWithResponse(background, &ListUsersParams{Limit: &limit, After: &after}))
	expect(*second.JSON200, []User{grace})
	expect(second.Headers200.Link == nil, true)

	login := must(users.LoginWithResponse(background, Login{Email: email}))
	found := ListUsersParams{Email: ptr(email)}
	expect(*must(clientWith(login.JSON200.Token).ListUsersWithResponse(background, &found)).JSON200, []User{ada})
	unknown := must(users.LoginWithResponse(background, Login{Email: "nobody@example.com"}))
	expect(unknown.StatusCode(), 401)
	expect(unknown.JSON401.Message, "no user has this email")
	expect(*unknown.JSON401.Code, "email_not_found")
	refused := must(clientWith("none").ListUsersWithResponse(background, nil))
	expect(refused.StatusCode(), 401)
	expect(refused.JSON401.Message, "a valid bearer token is required")
	expect(*refused.JSON401.Code, "unauthorized")
	large := must(clientWith(strings.Repeat("x", 20_000)).ListUsersWithResponse(background, nil))
	expect(large.StatusCode(), 431)
	expect(large.JSONDefault.Message, "the headers are too large")

	expect(must(users.DeleteUserWithResponse(background, ada.Id, nil)).StatusCode(), 204)
	gone := must(users.ReadUserWithResponse(background, ada.Id, nil))
	expect(gone.StatusCode(), 404)
	expect(gone.JSON404.Message, "no user has this id")
	expect(*gone.JSON404.Code, "a_later_code")
}

func clientWith(token string) *ClientWithResponses {
	return must(NewClientWithResponses(os.Getenv("URL"), WithRequestEditorFn(
		func(_ context.Context, request *http.Request) error {
			request.Header.Set("Authorization", "Bearer "+token)
			return nil
		})))
}

func fields(name, email string) UserFields { return UserFields{Name: name, Email: email} }

func ptr[T any](value T) *T { return &value }

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

func expect[T any](actual, expected T) {
	if !reflect.DeepEqual(actual, expected) {
		panic(fmt.Sprintf("expected %v, got %v", expected, actual))
	}
}
