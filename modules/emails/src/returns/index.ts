export { findReturnAddress, readReturnAddress, returnAddress } from './address.ts';
export { readReturn } from './read-return.ts';
export type { Returned } from './returned.ts';
