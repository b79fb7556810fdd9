export { findReturnAddress, parseReturnAddress, type ReturnAddress, returnAddress } from './return-address.ts';
export { parseBounce } from './parse-bounce.ts';
export type { BounceReport } from './bounce.ts';
export { parseMail } from './parse-mail.ts';
export { MAX_WAIT_MS, recordLateReport, recordReports, type Report, waitUntilSettled } from './reports.ts';
export {
  BOUNCES_BY,
  isMailFromDomain,
  projectOf,
  readReport,
  recordReceivedReport,
  REPORT,
  type ReceivedReport,
} from './received-report.ts';
