export { type PostResponse, isSuccess, noResponse } from './exchange.ts';
export { type ClientOptions, createGuardedClient, type GuardedClient } from './guarded-client.ts';
export { newSigningSecret, SECRET_LENGTH, type Signed, signature, standardSignature } from './signature.ts';
