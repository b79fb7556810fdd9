-- postroom_id('dlv') makes a TypeID in SQL, of the same form as newId('dlv') of @postroom/platform: the prefix, '_', and a
-- UUIDv7 in 26 digits of base32. For statements that insert many rows, so that ids need no round trip to a program:
--
--   INSERT INTO messages (id, …) SELECT postroom_id('eml'), … FROM …
--
-- Ids made by one statement sort in the order they were made: the 12 bits after the milliseconds hold their fraction.
-- 48 of the other 62 bits are random: hexadecimal digits are base32 digits too, and to use them as they are costs a
-- third of encoding all 62.
CREATE FUNCTION postroom_id(prefix text) RETURNS text LANGUAGE plpgsql VOLATILE PARALLEL SAFE AS $$
DECLARE
  digits CONSTANT text := '0123456789abcdefghjkmnpqrstvwxyz';
  us bigint := extract(epoch FROM clock_timestamp()) * 1000000;
  high int := us / 1000 >> 25;
  low int := us / 1000 & 33554431;
  fraction int := us % 1000 * 4096 / 1000;
BEGIN
  RETURN prefix || '_'
    -- The milliseconds, 48 bits after two of zero.
    || substr(digits, (high >> 20) + 1, 1)
    || substr(digits, (high >> 15 & 31) + 1, 1)
    || substr(digits, (high >> 10 & 31) + 1, 1)
    || substr(digits, (high >> 5 & 31) + 1, 1)
    || substr(digits, (high & 31) + 1, 1)
    || substr(digits, (low >> 20) + 1, 1)
    || substr(digits, (low >> 15 & 31) + 1, 1)
    || substr(digits, (low >> 10 & 31) + 1, 1)
    || substr(digits, (low >> 5 & 31) + 1, 1)
    || substr(digits, (low & 31) + 1, 1)
    -- Version 7 (0111) and the first bit of the fraction; its next ten; its last with variant 10 and two random bits (00).
    || substr(digits, (fraction >> 11) + 15, 1)
    || substr(digits, (fraction >> 6 & 31) + 1, 1)
    || substr(digits, (fraction >> 1 & 31) + 1, 1)
    || substr(digits, (fraction & 1) * 16 + 9, 1)
    || right(gen_random_uuid()::text, 12);
END $$;
