export { migrate, MIGRATIONS_DIR, migrationsOf, readMigrations, restartTransactionNumbers } from './migrate.ts';
