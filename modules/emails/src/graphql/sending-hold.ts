import { sendingHold, type SendingHold } from '@postroom/ledger';
import { builder, managersOnly } from '@postroom/platform';

const SendingHoldType = builder.objectRef<SendingHold>('SendingHold').implement({
  description: 'That the installation sends no mail until an operator releases it.',
  fields: (t) => ({
    reason: t.exposeString('reason', { description: 'Why it is held.' }),
    since: t.expose('since', { type: 'DateTime', nullable: true, description: 'Since when; null for `HOLD_SENDING`.' }),
    remedy: t.exposeString('remedy', { description: 'What an operator does to release it.' }),
    acceptsMail: t.exposeBoolean('acceptsMail', {
      description:
        'Whether mail is accepted and waits. If not, another database has taken over, and no change is accepted.',
    }),
  }),
});

builder.queryField('sendingHold', (t) =>
  t.field({
    type: SendingHoldType,
    nullable: true,
    ...managersOnly,
    description: 'Why the installation sends no mail, for owners and admins; null while it sends.',
    resolve: async () => (await sendingHold()) ?? null,
  }),
);
