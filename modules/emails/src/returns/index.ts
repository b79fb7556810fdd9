export { findReturnAddress, readReturnAddress, type ReturnAddress, returnAddress } from './address.ts';
export { namedAddresses } from './named.ts';
export { readReturn } from './read-return.ts';
export type { Returned } from './returned.ts';
