export {
  type Answer,
  type ClientOptions,
  createGuardedClient,
  type GuardedClient,
  isSuccess,
  noAnswer,
} from './guarded-client.ts';
export { newSigningSecret, SECRET_LENGTH, type Signed, signature, standardSignature } from './signature.ts';
