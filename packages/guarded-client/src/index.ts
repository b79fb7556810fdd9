export {
  type Answer,
  type ClientOptions,
  createGuardedClient,
  type GuardedClient,
  isSuccess,
  noAnswer,
} from './guarded-client.ts';
