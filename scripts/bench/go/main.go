// The peer in Go: the same service with net/http and the official driver, on MongoDB only. For each
// request it also does what the service does: an id, one line of JSON in the log, one histogram.
package main

import (
	"bufio"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"log/slog"
	"math/bits"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/mongo/writeconcern"
)

type user struct {
	ID    bson.ObjectID `bson:"_id" json:"id"`
	Name  string        `bson:"name" json:"name"`
	Email string        `bson:"email" json:"email"`
}

var key = []byte(os.Getenv("SIGNING_SECRET"))

func main() {
	go reportUsage()
	users := open(os.Getenv("MONGODB_URI"))
	handle("GET /users", true, func(_ http.Header, r *http.Request) (int, any) {
		all := []user{}
		found := must(users.Find(r.Context(), bson.D{}, options.Find().SetSort(bson.M{"_id": 1})))
		check(found.All(r.Context(), &all))
		return 200, all
	})
	handle("GET /users/{id}", true, func(_ http.Header, r *http.Request) (int, any) {
		var found user
		id := must(bson.ObjectIDFromHex(r.PathValue("id")))
		check(users.FindOne(r.Context(), bson.M{"_id": id}).Decode(&found))
		return 200, found
	})
	handle("POST /users", true, func(header http.Header, r *http.Request) (int, any) {
		created := user{ID: bson.NewObjectID()}
		check(json.NewDecoder(r.Body).Decode(&created))
		must(users.InsertOne(r.Context(), created))
		header.Set("Location", "/users/"+created.ID.Hex())
		return 201, created
	})
	handle("POST /login", false, func(_ http.Header, r *http.Request) (int, any) {
		var asked, found user
		check(json.NewDecoder(r.Body).Decode(&asked))
		check(users.FindOne(r.Context(), bson.M{"email": asked.Email}).Decode(&found))
		now := time.Now()
		claims := jwt.MapClaims{"id": found.ID.Hex(), "iat": now.Unix(), "exp": now.Add(24 * time.Hour).Unix()}
		token := must(jwt.NewWithClaims(jwt.SigningMethodHS256, claims).SignedString(key))
		return 200, map[string]string{"token": token}
	})
	check(http.ListenAndServe("127.0.0.1:"+os.Getenv("PORT"), nil))
}

func open(uri string) *mongo.Collection {
	journal := true
	durable := &writeconcern.WriteConcern{W: "majority", Journal: &journal}
	client := must(mongo.Connect(options.Client().ApplyURI(uri).SetWriteConcern(durable)))
	server, _, _ := strings.Cut(uri, "?")
	users := client.Database(server[strings.LastIndex(server, "/")+1:]).Collection("users")
	unique := options.Index().SetUnique(true).SetSparse(true)
	must(users.Indexes().CreateOne(context.Background(), mongo.IndexModel{Keys: bson.M{"email": 1}, Options: unique}))
	return users
}

type bucket struct{ route, status, power any } // 2 to this power: microseconds

var (
	log       = slog.New(slog.NewJSONHandler(os.Stdout, nil))
	histogram sync.Map
)

func handle(route string, guarded bool, respond func(http.Header, *http.Request) (int, any)) {
	http.HandleFunc(route, func(w http.ResponseWriter, r *http.Request) {
		begun, id, header := time.Now(), rand.Text(), w.Header()
		header.Set("X-Request-Id", id)
		header.Set("Content-Type", "application/json")
		status, body := 401, any(map[string]string{"message": "a valid bearer token is required"})
		if !guarded || isValid(strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")) {
			status, body = respond(header, r)
		}
		w.WriteHeader(status)
		check(json.NewEncoder(w).Encode(body))
		took := time.Since(begun).Microseconds()
		count, _ := histogram.LoadOrStore(bucket{route, status, bits.Len64(uint64(took))}, new(atomic.Int64))
		count.(*atomic.Int64).Add(1)
		log.Info("request", "id", id, "method", r.Method, "path", r.URL.Path, "status", status, "us", took)
	})
}

func isValid(token string) bool {
	hs256 := jwt.WithValidMethods([]string{"HS256"})
	_, err := jwt.Parse(token, func(*jwt.Token) (any, error) { return key, nil }, hs256)
	return err == nil
}

// What usage.ts does in Node: answers the messages of the benchmark, and ends with it.
func reportUsage() {
	channel := os.NewFile(uintptr(must(strconv.Atoi(os.Getenv("NODE_CHANNEL_FD")))), "channel")
	for messages := bufio.NewScanner(channel); messages.Scan(); {
		var used syscall.Rusage
		check(syscall.Getrusage(syscall.RUSAGE_SELF, &used))
		cpu := (used.Utime.Nano() + used.Stime.Nano()) / 1000
		must(fmt.Fprintf(channel, "{\"cpu\":%d,\"memory\":%d}\n", cpu, used.Maxrss*1024))
	}
	os.Exit(0)
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}

func must[T any](value T, err error) T {
	check(err)
	return value
}
