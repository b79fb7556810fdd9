import './contact-views.ts';
import './custom-fields.ts';
import './segments.ts';
import './suppression-batch.ts';
import './suppressions.ts';

export { Contact, ContactSource, loadContact, OnConflict } from './contacts.ts';
export { SuppressionOrigin, SuppressionReason } from './suppressions.ts';
