import type { ContentFormat } from '../../generated/graphql.ts';

const HTML = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
  </head>
  <body style="margin:0;background:#f2f5f3;font-family:Helvetica,Arial,sans-serif">
    <table role="presentation" width="100%" cellpadding="0" cellspacing="0">
      <tr>
        <td align="center" style="padding:32px 12px">
          <table role="presentation" width="560" style="width:100%;max-width:560px;background:#ffffff;border-radius:12px">
            <tr>
              <td style="padding:32px">
                <h1 style="margin:0 0 16px;font-size:24px;line-height:1.3;color:#1c211f">What is new</h1>
                <p style="margin:0 0 16px;font-size:16px;line-height:1.6;color:#38403c">Hello {{name|there}},</p>
                <p style="margin:0 0 24px;font-size:16px;line-height:1.6;color:#38403c">Write your message here.</p>
                <a href="https://example.com" style="display:inline-block;padding:12px 20px;border-radius:8px;background:#2b6a58;color:#ffffff;text-decoration:none">Read more</a>
              </td>
            </tr>
          </table>
          <p style="margin:16px 0 0;font-size:12px;color:#66716c"><a href="{{unsubscribe_url}}" style="color:#66716c">Unsubscribe</a></p>
        </td>
      </tr>
    </table>
  </body>
</html>
`;

const MJML = `<mjml lang="en">
  <mj-head>
    <mj-attributes>
      <mj-all font-family="Helvetica, Arial, sans-serif" />
      <mj-text font-size="16px" line-height="1.6" color="#38403c" padding="0 0 16px" />
    </mj-attributes>
  </mj-head>
  <mj-body background-color="#f2f5f3" width="560px">
    <mj-section padding="16px 0 0" />
    <mj-section background-color="#ffffff" border-radius="12px" padding="32px">
      <mj-column>
        <mj-text font-size="24px" line-height="1.3" color="#1c211f">
          <h1 style="margin:0;font-size:24px">What is new</h1>
        </mj-text>
        <mj-text>Hello {{name|there}},</mj-text>
        <mj-text>Write your message here.</mj-text>
        <mj-button href="https://example.com" align="left" padding="8px 0 0" background-color="#2b6a58" border-radius="8px" font-size="16px">
          Read more
        </mj-button>
      </mj-column>
    </mj-section>
    <mj-section padding="16px">
      <mj-column>
        <mj-text align="center" font-size="12px" padding="0">
          <a href="{{unsubscribe_url}}" style="color:#66716c">Unsubscribe</a>
        </mj-text>
      </mj-column>
    </mj-section>
  </mj-body>
</mjml>
`;

/** Starter content: a responsive email, the same in both formats. */
export const STARTERS: Record<ContentFormat, string> = { html: HTML, mjml: MJML };
