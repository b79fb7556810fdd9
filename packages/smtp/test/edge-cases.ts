/** Message data as submitted and as it must arrive: dots, bare line endings, missing line endings, octets. Test-only. */
export const EDGE_CASE_MESSAGES: readonly [string | Uint8Array, string][] = [
  ['.\r\n..\r\n.a\r\n', '.\r\n..\r\n.a\r\n'],
  ['a\r\n.\r\nMAIL FROM:<x>\r\n', 'a\r\n.\r\nMAIL FROM:<x>\r\n'],
  ['a\r\n.\r\nQUIT\r\n', 'a\r\n.\r\nQUIT\r\n'],
  ['a\n.\nb\r.\rc', 'a\r\n.\r\nb\r\n.\r\nc\r\n'],
  ['', '\r\n'],
  [Uint8Array.from([0x61, 0xff, 0xe9, 0x0a]), 'a\xff\xe9\r\n'],
  ['é\u010d\r\n', 'Ã©\xc4\x8d\r\n'],
];
