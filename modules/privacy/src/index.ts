export { erasePerson, type Erased } from './erase.ts';
export { findDataSubject, type FoundSubject } from './data-subject.ts';
export { personData } from './export.ts';
