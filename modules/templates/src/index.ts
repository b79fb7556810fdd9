export { type Body, type ContentFormat, readBody, resolveSubmittedBody } from './formats.ts';
export { placeholderProblems } from './problems.ts';
export {
  createTemplate,
  deleteTemplate,
  getTemplate,
  getVersion,
  newestContent,
  listTemplates,
  listVersions,
  publishTemplate,
  restoreVersion,
  updateTemplate,
} from './templates.ts';
