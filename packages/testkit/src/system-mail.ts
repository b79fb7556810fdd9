import { config } from '@postroom/platform';
import { eventually } from './eventually.ts';
import { type SmtpSink, startSmtpSink } from './smtp-sink.ts';

/** The mail that Postroom itself sends, such as invitations. */
export interface SystemMail extends AsyncDisposable {
  sink: SmtpSink;
  /** The link in the newest mail to an address. */
  linkTo: (email: string) => Promise<string>;
}

/** Redirects this process's own mail to a sink, until disposed. */
export async function takeSystemMail(): Promise<SystemMail> {
  const before = config.SMTP_URL;
  const sink = await startSmtpSink();
  config.SMTP_URL = sink.url;
  return {
    sink,
    linkTo: (email) =>
      eventually(async () => {
        const raw = sink.mails.findLast(({ to }) => to === email)?.raw ?? '';
        // Quoted-printable: soft line breaks end in "=", and "=" is "=3D".
        const text = raw.replace(/=\r\n/g, '').replace(/=3D/g, '=');
        const [link] = /https?:\/\/\S+/.exec(text) ?? [];
        if (link === undefined) throw new Error(`No mail with a link came to ${email}`);
        return link;
      }),
    [Symbol.asyncDispose]: async () => {
      config.SMTP_URL = before;
      await sink.close();
    },
  };
}
