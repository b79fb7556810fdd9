#!/bin/sh
# Starts everything in compose.yaml. The first run generates the secrets, into deploy/secrets and deploy/.env; keep a copy of both.
#
#   PUBLIC_URL=https://mail.example.com SMTP_URL=smtp://user:password@relay.example.com:587 \
#   SYSTEM_MAIL_FROM='Postroom <postroom@example.com>' POSTROOM_OWNER_EMAIL=you@example.com deploy/up.sh
#
# Further arguments go to `docker compose`: deploy/up.sh --profile https up -d. Without DOCKER (docker by default) being installed, it
# only generates.
set -eu
cd "$(dirname "$0")"
umask 077

random() { head -c "$1" /dev/urandom | base64 | tr -d '\n'; }
password() { random 33 | tr '+/' '-_'; }

mkdir -p secrets
if [ ! -f .env ]; then
  cat > .env.new << END
PUBLIC_URL='${PUBLIC_URL:-http://localhost:3400}'
SMTP_URL='${SMTP_URL:-none}'
SYSTEM_MAIL_FROM='${SYSTEM_MAIL_FROM:-Postroom <postroom@localhost>}'
POSTROOM_OWNER_EMAIL='${POSTROOM_OWNER_EMAIL:-owner@example.com}'
POSTGRES_PASSWORD='$(password)'
END
  mv .env.new .env
fi
. ./.env

# The containers' user reads these files, which only root can reach in this folder.
secret() { [ -s "secrets/$1" ] || { cat > "secrets/$1.new" && chmod 644 "secrets/$1.new" && mv "secrets/$1.new" "secrets/$1"; }; }
printf %s "postgresql://postroom:$POSTGRES_PASSWORD@postgres:5432/postroom" | secret database_url
random 32 | secret secret_key
password | secret owner_password
if [ ! -s secrets/tls.crt ]; then
  host="$(printf %s "$PUBLIC_URL" | sed -E 's#^[a-z]+://([^:/]+).*#\1#')"
  # Replace both files with a certificate that clients trust.
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 825 -subj "/CN=$host" \
    -addext "subjectAltName=DNS:$host" -keyout secrets/tls.key -out secrets/tls.crt 2> /dev/null
  chmod 644 secrets/tls.key secrets/tls.crt
fi

command -v "${DOCKER:-docker}" > /dev/null || { echo "Generated deploy/.env and deploy/secrets. Docker is not installed."; exit 0; }
[ $# -gt 0 ] || set -- up --detach --build
"${DOCKER:-docker}" compose --file compose.yaml "$@"
echo "Postroom is at $PUBLIC_URL; sign in as $POSTROOM_OWNER_EMAIL with the password in deploy/secrets/owner_password."
