export { Postroom } from './client.ts';
export { type ErrorCode, type FieldProblem, PostroomError } from './errors.ts';
export { List, type Page } from './list.ts';
export type { RecipientsResult } from './sending.ts';
export type {
  CallArguments,
  ClientOptions,
  IdOf,
  InputOf,
  OperationId,
  OperationRoute,
  RequestOptions,
} from './transport.ts';
export type * from './types.ts';
export { type HeadersLike, type VerifyOptions, verifyWebhook, WebhookVerificationError } from './webhooks.ts';
