export { erasePerson, type Erased } from './erase.ts';
export { findPerson, type Person } from './person.ts';
export { personData } from './export.ts';
