//! What the project is built on, by its declared dependencies.

use std::collections::{BTreeMap, BTreeSet};

use sequester_core::architecture::Stated;

use crate::architecture::dependencies::Manifest;
use crate::architecture::line::some;

/// What a dependency is for. Names are whole, or end with `*`.
const KINDS: [(&str, &[&str]); 13] = [
    (
        "User interface",
        &[
            "react",
            "vue",
            "svelte",
            "@angular/core",
            "solid-js",
            "preact",
            "lit",
            "jquery",
            "flutter",
            "leptos",
            "yew",
            "egui",
            "ratatui",
            "@mui/material",
            "tailwindcss",
        ],
    ),
    (
        "Web framework",
        &[
            "next",
            "nuxt",
            "@sveltejs/kit",
            "express",
            "fastify",
            "koa",
            "@nestjs/core",
            "hono",
            "connect",
            "astro",
            "axum",
            "actix-web",
            "rocket",
            "warp",
            "tonic",
            "hyper",
            "Django",
            "django",
            "Flask",
            "flask",
            "fastapi",
            "starlette",
            "aiohttp",
            "tornado",
            "rails",
            "sinatra",
            "laravel/framework",
            "symfony/framework-bundle",
            "slim/slim",
            "github.com/gin-gonic/gin",
            "github.com/labstack/echo/v4",
            "github.com/go-chi/chi/v5",
            "github.com/gorilla/mux",
            "google.golang.org/grpc",
            "org.springframework.boot:*",
            "io.quarkus:*",
            "io.ktor:*",
            "phoenix",
            "Microsoft.AspNetCore*",
        ],
    ),
    (
        "Asynchronous runtime",
        &[
            "tokio",
            "async-std",
            "smol",
            "trio",
            "anyio",
            "rxjs",
            "org.jetbrains.kotlinx:kotlinx-coroutines*",
        ],
    ),
    (
        "Database",
        &[
            "sqlx",
            "diesel",
            "sea-orm",
            "rusqlite",
            "redis",
            "mongodb",
            "mongoose",
            "pg",
            "mysql2",
            "prisma",
            "@prisma/client",
            "typeorm",
            "drizzle-orm",
            "sequelize",
            "knex",
            "sqlalchemy",
            "SQLAlchemy",
            "psycopg",
            "psycopg2",
            "alembic",
            "pymongo",
            "activerecord",
            "doctrine/orm",
            "gorm.io/gorm",
            "github.com/jmoiron/sqlx",
            "ecto_sql",
            "org.hibernate*",
            "org.postgresql:postgresql",
            "Microsoft.EntityFrameworkCore*",
            "Dapper",
        ],
    ),
    (
        "Error handling",
        &[
            "anyhow",
            "thiserror",
            "eyre",
            "color-eyre",
            "miette",
            "snafu",
            "neverthrow",
            "github.com/pkg/errors",
        ],
    ),
    (
        "Logging and telemetry",
        &[
            "tracing",
            "log",
            "env_logger",
            "slog",
            "winston",
            "pino",
            "loguru",
            "structlog",
            "sentry-sdk",
            "go.uber.org/zap",
            "github.com/sirupsen/logrus",
            "github.com/rs/zerolog",
            "org.slf4j:*",
            "monolog/monolog",
            "Serilog*",
            "opentelemetry",
            "@opentelemetry/api",
            "go.opentelemetry.io/otel",
            "github.com/prometheus/client_golang",
        ],
    ),
    (
        "Tests",
        &[
            "vitest",
            "jest",
            "mocha",
            "ava",
            "@playwright/test",
            "playwright-chromium",
            "cypress",
            "@testing-library/react",
            "pytest",
            "hypothesis",
            "nose",
            "proptest",
            "quickcheck",
            "insta",
            "criterion",
            "divan",
            "mockall",
            "rspec",
            "rspec-rails",
            "minitest",
            "phpunit/phpunit",
            "pestphp/pest",
            "github.com/stretchr/testify",
            "go.uber.org/goleak",
            "junit:junit",
            "org.junit.jupiter:*",
            "io.kotest:*",
            "org.mockito:*",
            "xunit",
            "NUnit",
            "Moq",
            "selenium",
        ],
    ),
    (
        "Command line",
        &[
            "clap",
            "structopt",
            "argh",
            "click",
            "typer",
            "cac",
            "commander",
            "yargs",
            "github.com/spf13/cobra",
            "github.com/alecthomas/kingpin/v2",
            "github.com/urfave/cli/v2",
            "symfony/console",
            "thor",
        ],
    ),
    (
        "Serialisation and validation",
        &[
            "serde",
            "prost",
            "zod",
            "joi",
            "yup",
            "ajv",
            "valibot",
            "pydantic",
            "marshmallow",
            "attrs",
            "google.golang.org/protobuf",
            "com.fasterxml.jackson.core:*",
        ],
    ),
    (
        "State",
        &[
            "redux",
            "@reduxjs/toolkit",
            "zustand",
            "mobx",
            "pinia",
            "vuex",
            "jotai",
            "@tanstack/react-query",
            "react-query",
        ],
    ),
    (
        "Bundler",
        &["vite", "webpack", "rollup", "esbuild", "parcel", "tsup", "tsdown", "turbo", "rolldown"],
    ),
    (
        "Linters and formatters",
        &[
            "eslint",
            "prettier",
            "@biomejs/biome",
            "oxlint",
            "oxfmt",
            "ruff",
            "black",
            "flake8",
            "mypy",
            "isort",
            "rubocop",
            "squizlabs/php_codesniffer",
            "phpstan/phpstan",
            "friendsofphp/php-cs-fixer",
        ],
    ),
    (
        "Background work",
        &[
            "celery",
            "sidekiq",
            "bullmq",
            "rq",
            "temporalio",
            "apalis",
            "kafkajs",
            "rdkafka",
            "lapin",
        ],
    ),
];

/// One line per kind, with the manifest that declares most of it.
pub(super) fn state(manifests: &[Manifest]) -> Vec<Stated> {
    let mut found = Vec::new();
    for (kind, names) in KINDS {
        let mut seen = BTreeSet::new();
        let mut shown: Vec<&str> = Vec::new();
        let mut places: BTreeMap<&str, usize> = BTreeMap::new();
        for manifest in manifests {
            for dependency in
                manifest.dependencies.iter().filter(|dependency| is_one(&dependency.name, names))
            {
                if seen.insert(dependency.name.as_str()) {
                    shown.push(&dependency.name);
                }
                *places.entry(&manifest.path).or_default() += 1;
            }
        }
        let first = manifests
            .iter()
            .map(|manifest| manifest.path.as_str())
            .find(|path| places.contains_key(path));
        if let Some(first) = first {
            let more = places.len() - 1;
            let source =
                if more == 0 { first.to_owned() } else { format!("{first} and {more} more") };
            found.push(Stated::new(format!("{kind}: {}", some(&shown, 8)), source));
        }
    }
    found
}

fn is_one(name: &str, names: &[&str]) -> bool {
    names.iter().any(|known| {
        known.strip_suffix('*').map_or(name == *known, |start| name.starts_with(start))
    })
}
