import { defineConfig } from 'prisma/config';
export default defineConfig({ schema: 'modules', migrations: { path: 'modules/platform/migrations' } });
