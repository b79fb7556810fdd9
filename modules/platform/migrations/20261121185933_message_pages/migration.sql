-- What Prisma's schema cannot say, written by hand.

-- A row of a campaign is written three times, and its last version is the widest. With half of a page left free, one change in
-- eight did not fit there and was heard of by all indexes; with three fifths none is. Pages that are written from now on have it.
ALTER TABLE "messages" SET (fillfactor = 40);
