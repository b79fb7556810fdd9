import { defineIdPrefix, type Prisma } from '@postroom/platform';

export type Form = Prisma.FormModel;
export type FormSubmission = Prisma.FormSubmissionModel;

export const FORM_ID = defineIdPrefix('frm', 'form');
export const SUBMISSION_ID = defineIdPrefix('fsb', 'form submission');
