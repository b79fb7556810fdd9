import type { Email } from '@postroom/mime/parse';

/** Subjects of out-of-office and other automatic replies. */
const ABSENCE =
  /^(re: ?|aw: ?)*(\[?auto(matic|mated)?[ -:]?(reply|response|answer)|auto:|autoreply|out of (the )?office|ooo\b|vacation|on (vacation|leave|holiday)|away from|abwesen|automatische antwort|respuesta automática|réponse automatique|risposta automatica|automatisch antwoord|resposta automática|fuori sede|absence|afwezig)/i;

/** Challenge-response mails that ask the sender to prove they are human. */
const CHALLENGE =
  /challenge[- ]response|(please )?(confirm|verify) (that )?(you|your (message|e-?mail|mail|identity))|spam ?arrest|boxbe|uol antispam|your e-?mail requires (verification|confirmation)|waiting (list|for (your )?(approval|verification))|tmda|sender verification/i;

/** Plain-text delay warnings from servers that keep retrying. */
const DELAY =
  /^(warning: ?(could not send|message .* delayed)|delayed (mail|delivery)|delivery (status notification )?\(?delay|delivery delayed|mail delivery (delayed|deferred)|delivery is delayed|message delayed|verzögert)|^warning: message \S+ delayed/i;

/** Why a mail isn't a delivery report; undefined if it may be one. */
export function ignoredReason(mail: Email): string | undefined {
  const subject = mail.subject ?? '';
  if (DELAY.test(subject)) return 'the message is delayed, and still tried';
  if (isFromServer(mail)) return undefined;
  const header = (name: string) => mail.headers.find(({ key }) => key === name)?.value;
  const sender = `${mail.from?.name ?? ''} ${mail.from?.address ?? ''}`;
  if (CHALLENGE.test(subject) || CHALLENGE.test(sender)) return 'it asks for a confirmation';
  const autoSubmitted = header('auto-submitted');
  const isAutomatic =
    (autoSubmitted !== undefined && !/^no\b/i.test(autoSubmitted)) ||
    ['x-autoreply', 'x-autorespond', 'x-auto-response-suppress', 'x-autoresponder'].some(
      (name) => header(name) !== undefined,
    ) ||
    /auto[_-]?reply|junk/i.test(header('precedence') ?? '') ||
    ABSENCE.test(subject);
  return isAutomatic ? 'it is an automatic answer' : 'a person or program answered it';
}

/** Whether a mail server sent it, according to its From. */
function isFromServer(mail: Email): boolean {
  if (mail.headers.some(({ key }) => key === 'x-failed-recipients')) return true;
  const from = `${mail.from?.name ?? ''} ${mail.from?.address ?? ''}`;
  return /mailer-daemon|postmaster|mail delivery (system|sub ?system|service)|maildelivery|mdaemon|system administrator|bounce/i.test(
    from,
  );
}
