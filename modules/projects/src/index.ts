export { createApiKey, generateKey, isWellFormedKey, type NewApiKey, revokeApiKey } from './api-keys.ts';
export { authenticate } from './authenticate.ts';
export { createProject, listProjects, projectName } from './projects.ts';
