export { erasePerson, type Erased } from './erase.ts';
export { findPerson, type Person } from './data-subject.ts';
export { personData } from './export.ts';
