export { type FormRequest, handleForm } from './handle-form.ts';
export { readConfirmToken } from './token.ts';
export { FORM_ID } from './ids.ts';
