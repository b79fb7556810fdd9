export { disagreement, FACTS, factsFor, TAKE_MOVER_LOCK } from './agreement.ts';
export { cellOf, isServedHere, PROJECTS_BY, type ProjectReference } from './cell-of.ts';
export {
  answerForwarded,
  askCell,
  askOtherCells,
  CELL_HEADER,
  CELLS_PATH,
  gatewayOf,
  forwardTo,
  MAX_HOPS,
  otherCells,
  postTo,
  type UserProfile,
  readVoucher,
  type Vouched,
  type Voucher,
  voucherFor,
} from './peers.ts';
