export { type Body, type ContentFormat, readBody } from './formats.ts';
export {
  createTemplate,
  deleteTemplate,
  getTemplate,
  listTemplates,
  publishTemplate,
  updateTemplate,
} from './templates.ts';
