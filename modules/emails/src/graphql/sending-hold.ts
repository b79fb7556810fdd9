import { sendingHold, type SendingHold } from '@postroom/ledger';
import { builder, managersOnly } from '@postroom/platform';

const SendingHoldType = builder.objectRef<SendingHold>('SendingHold').implement({
  description: 'That the installation sends no mail until an operator releases it.',
  fields: (t) => ({
    reason: t.exposeString('reason', { description: 'Why it is held.' }),
    since: t.expose('since', { type: 'DateTime', nullable: true, description: 'Since when; null for `HOLD_SENDING`.' }),
    remedy: t.exposeString('remedy', { description: 'What an operator does to release it.' }),
  }),
});

builder.queryField('sendingHold', (t) =>
  t.field({
    type: SendingHoldType,
    nullable: true,
    ...managersOnly,
    description:
      'Why the installation sends no mail, for owners and admins; null while it sends. Mail is accepted in either case.',
    resolve: async () => (await sendingHold()) ?? null,
  }),
);
