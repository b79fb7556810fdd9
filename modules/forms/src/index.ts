export { type FormRequest, handleForm } from './handle-form.ts';
