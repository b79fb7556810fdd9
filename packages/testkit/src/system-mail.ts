import { config } from '@postroom/platform';
import { eventually } from './eventually.ts';
import { type SmtpSink, startSmtpSink } from './smtp-sink.ts';

/** The mail server of the installation, as far as a test needs it: what Postroom itself sends comes here. */
export interface SystemMail extends AsyncDisposable {
  sink: SmtpSink;
  /** The link in the newest mail to an address. */
  linkTo: (email: string) => Promise<string>;
}

/** Sends Postroom's own mail of this process to a sink, until it is disposed of. */
export async function takeSystemMail(): Promise<SystemMail> {
  const before = config.SMTP_URL;
  const sink = await startSmtpSink();
  config.SMTP_URL = sink.url;
  return {
    sink,
    linkTo: (email) =>
      eventually(async () => {
        const raw = sink.mails.findLast(({ to }) => to === email)?.raw ?? '';
        // As quoted-printable has it: lines go on after "=", and "=" is "=3D".
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
