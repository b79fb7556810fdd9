export { asSubmitted, type Body, type ContentFormat, readBody } from './formats.ts';
export {
  createTemplate,
  deleteTemplate,
  getTemplate,
  getVersion,
  listTemplates,
  listVersions,
  publishTemplate,
  restoreVersion,
  updateTemplate,
} from './templates.ts';
