/** What a new template begins with: a letter that reads well on desktops and phones. */
export const STARTER = `<!doctype html>
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
                <p style="margin:0 0 24px;font-size:16px;line-height:1.6;color:#38403c">Say here what it is about.</p>
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
