export { type ExportOptions, exportContacts } from './export.ts';
export {
  addPart,
  cancelImport,
  createImport,
  getImport,
  type Import,
  type ImportStatus,
  listImports,
  startImport,
} from './imports.ts';
export { checkOptions, type ImportOptions } from './options.ts';
export { beginImport, continueImport, type Progress } from './run.ts';
