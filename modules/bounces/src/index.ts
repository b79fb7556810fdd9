export { findReturnAddress, readReturnAddress, type ReturnAddress, returnAddress } from './return-address.ts';
export { namedAddresses } from './named.ts';
export { readReturn } from './parse-bounce.ts';
export type { Returned } from './bounce.ts';
export { parseMail } from './parse-mail.ts';
export { recordLateReport, recordReports, type Report } from './reports.ts';
