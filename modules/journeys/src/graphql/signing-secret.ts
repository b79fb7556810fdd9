import { atMost, builder, callerProject, managersOnly } from '@postroom/platform';
import { SECRET_LENGTH } from '@postroom/guarded-client';
import { revealSigningSecret, rotateSigningSecret } from '../signing-secret.ts';

const SigningSecret = builder.objectRef<{ secret: string }>('JourneySigningSecret').implement({
  description: 'The secret that signs the calls of webhook steps.',
  fields: (t) => ({
    secret: t.exposeString('secret', { description: 'It starts with `whsec_`.', ...atMost(SECRET_LENGTH) }),
  }),
});

builder.mutationFields((t) => ({
  revealJourneySigningSecret: t.field({
    type: SigningSecret,
    ...managersOnly,
    description:
      "Returns the secret that signs the calls of the project's webhook steps. Only for signed-in users, not for API keys.",
    resolve: async (_root, _args, context) => ({ secret: await revealSigningSecret(callerProject(context)) }),
  }),
  rotateJourneySigningSecret: t.field({
    type: SigningSecret,
    ...managersOnly,
    description: 'Replaces that secret from the next call on. Only for signed-in users, not for API keys.',
    resolve: async (_root, _args, context) => ({ secret: await rotateSigningSecret(callerProject(context)) }),
  }),
}));
