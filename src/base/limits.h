/* SPDX-License-Identifier: ISC
 *
 * Every limit of the program, each with the reason for its value. A limit that
 * belongs to one capability stands in the capability table instead.
 */
#ifndef BASE_LIMITS_H
#define BASE_LIMITS_H

/* -- config ------------------------------------------------------------- */
/* A file this long is no configuration; bounds the work of the YAML reader. */
#define LIMIT_CONFIG_BYTES (64 * 1024)
/* sources: → name → addresses: → item is 4; libyaml itself has no bound. */
#define LIMIT_CONFIG_DEPTH 8
/* Keys in one place; sources: has the most. Bounds the search for a key that
 * is written twice. */
#define LIMIT_CONFIG_MEMBERS 512
/* Sources of one worker; fixed arrays of the scheduler have this length. */
#define LIMIT_SOURCES 256
/* Special addresses one source may list. */
#define LIMIT_ADDRESSES 8
/* Languages an operator may allow for one capability. */
#define LIMIT_LANGUAGES 32

/* -- the contract ------------------------------------------------------- */
/* A body of a source, and the most `max_input` can allow. */
#define LIMIT_BODY_BYTES (64u * 1024 * 1024)
/* `id` and `lease`. */
#define LIMIT_ID_BYTES 128
/* claim_id: 128 random bits as hexadecimal digits. */
#define LIMIT_CLAIM_ID_BYTES 32
/* Nesting of a body: the contract needs 4, a stack of bits holds 32. */
#define LIMIT_JSON_DEPTH 32
/* A number token: no field of the contract needs more digits. */
#define LIMIT_JSON_NUMBER_BYTES 64
/* Members of a body's top-level object, known and unknown together. */
#define LIMIT_JSON_KEYS 1024
/* A key we know is shorter; a longer one cannot be it and is not kept. */
#define LIMIT_JSON_KEY_BYTES 64
/* What a box may write: the largest output of the catalogue. */
#define LIMIT_OUTPUT_BYTES (32u * 1024 * 1024)
/* Error messages are our own sentences. */
#define LIMIT_MESSAGE_BYTES 256
/* Retry-After and released.retry_after, seconds. */
#define LIMIT_RETRY_AFTER_S 600

/* -- exchange with a source --------------------------------------------- */
/* All header lines of an answer together, 1xx and trailers included. */
#define LIMIT_HEADER_BYTES (16 * 1024)
#define LIMIT_HEADER_LINES 100
/* 1xx responses before the final one. */
#define LIMIT_INTERIM_RESPONSES 5
/* Bytes on the wire beyond the body's cap: headers, TLS records, chunk
 * framing. Endless chunk extensions are caught by nothing else. */
#define LIMIT_WIRE_SLACK_BYTES (256 * 1024)
/* … and one in so many bytes of the cap: what honest framing costs (records of
 * 1 KiB would be 1 in 35). */
#define LIMIT_WIRE_SLACK_SHARE 16
/* Of an answer whose body says nothing to us, so much is read and thrown
 * away. */
#define LIMIT_ANSWER_BYTES (16 * 1024)
/* The courier gives up so long before the deadline at which it is killed. */
#define LIMIT_COURIER_MARGIN_MS 2000
/* Deadlines the core holds, milliseconds. */
#define LIMIT_CLAIM_MS	    60000
#define LIMIT_RESULT_MS	    30000
#define LIMIT_RESULT_MAX_MS 300000
/* A result gets one second more for each of these. */
#define LIMIT_RESULT_BYTES_PER_S (128 * 1024)
#define LIMIT_DIAL_MS		 15000
/* TLS handshake, and a stalled transfer, inside the courier. */
#define LIMIT_HANDSHAKE_MS	10000
#define LIMIT_STALL_S		10
#define LIMIT_STALL_BYTES_PER_S 100
/* One try of one address; eight addresses must fit the dial deadline only
 * if most refuse at once. */
#define LIMIT_CONNECT_MS     3000
#define LIMIT_DIAL_ADDRESSES 8
/* A dialer's own bounds: one name, one socket, and what a name service opens
 * on the way. */
#define LIMIT_DIALER_FILES 64
#define LIMIT_DIALER_CPU_S 5
/* A courier's own bounds. Address space: libcurl, OpenSSL and the CA bundle
 * need about 120 MiB of mappings. */
#define LIMIT_COURIER_CPU_S	    10
#define LIMIT_COURIER_ADDRESS_SPACE (256u * 1024 * 1024)
#define LIMIT_COURIER_FILES	    16
/* Connections that one courier gets. It needs one for its exchange; without an
 * end a captured one has the keep start processes all the time. */
#define LIMIT_COURIER_DIALS 4
/* Couriers at once: one per source in use. */
#define LIMIT_COURIERS 64
/* The keep ends a courier itself after this, whatever the core says. */
#define LIMIT_COURIER_LIFE_MS (61 * 60 * 1000)
/* Killed children the keep has not reaped yet; beyond it, it waits for one. */
#define LIMIT_KEEP_DYING 64
/* A bundle of certificates. Debian's is 220 KiB. */
#define LIMIT_CA_BYTES (1024 * 1024)

/* -- secrets ------------------------------------------------------------ */
#define LIMIT_TOKEN_BYTES	4096
#define LIMIT_SECRET_FILE_BYTES 8192
/* The opener decrypts one file. */
#define LIMIT_OPENER_MS 5000

/* -- core --------------------------------------------------------------- */
/* Waiting in all, in one round of asking. */
#define LIMIT_ROUND_MS 1000
/* Growing delay of a source that cannot be reached. */
#define LIMIT_BACKOFF_MS (600 * 1000)
/* A job that waits longer for its turn is given back. */
#define LIMIT_HELD_MS (30 * 1000)
/* Letters in flight and held, together. */
#define LIMIT_LETTERS_BYTES (256u * 1024 * 1024)
#define LIMIT_HOUR_MS	    (60 * 60 * 1000)
/* Results of one source put aside for the operator. */
#define LIMIT_PARKED	   16
#define LIMIT_PARKED_BYTES (64u * 1024 * 1024)
/* A result answered 5xx for so long is parked. */
#define LIMIT_ANSWERED_5XX_MS (24ull * 60 * 60 * 1000)
/* Resting of a capability, doubling. */
#define LIMIT_REST_MS	  (30 * 1000)
#define LIMIT_REST_MAX_MS (600 * 1000)
/* The third suspect release or crash of one job is its last. */
#define LIMIT_SUSPICIONS 3
/* Suspect ids remembered per source. */
#define LIMIT_SUSPECTS 256
/* A journal that another core still holds is waited for; a killed one lets go
 * in milliseconds. */
#define LIMIT_JOURNAL_WAIT_MS 5000
/* The journal is copied in steps of this. */
#define LIMIT_BLOB_STEP (64 * 1024)
/* Told to stop at once, the core still offers its releases for so long. */
#define LIMIT_STOP_MS 5000
/* How often growing letters are looked at, once they may become too many. */
#define LIMIT_WATCH_MS 200
/* The journal file; beyond it the disk counts as full. */
#define LIMIT_JOURNAL_BYTES (4ull * 1024 * 1024 * 1024)
/* status.json: at least this often, and at most this often. */
#define LIMIT_STATUS_MS	    10000
#define LIMIT_STATUS_GAP_MS 200

/* -- box ---------------------------------------------------------------- */
/* Open files of a box; the tools' own fds stand above it. */
#define LIMIT_BOX_FILES 64
/* The first of the fds at which a box finds its opened programs. */
#define LIMIT_BOX_PROGRAM_FD 100
/* Tools of one capability. */
#define LIMIT_TOOLS 5
/* Processes and threads of a box: init, driver, tool and its threads. */
#define LIMIT_BOX_PROCESSES 16
/* Inodes of the scratch tmpfs. */
#define LIMIT_BOX_INODES 1024
/* What of a tool's stderr is kept for the operator's debug log. */
#define LIMIT_TOOL_STDERR_BYTES 2048
/* The driver ends a job's tool so long before the yard ends the box, so that
 * the verdict can say "timeout" (a tenth of the limit when that is less). */
#define LIMIT_DRIVER_EARLY_MS 500
/* Longest side of the picture of a page for OCR: 200 dpi of A4. A resolution
 * would let the page choose. */
#define LIMIT_PAGE_SIDE 2400
/* A page with fewer letters is a picture. */
#define LIMIT_PAGE_LETTERS 16
/* Pages of one document that are read by OCR, at about a second each. */
#define LIMIT_OCR_PAGES 20
/* Longest side of the picture of an image for OCR: 300 dpi of A4 and a bit;
 * tesseract needs 60 bytes a pixel. */
#define LIMIT_PICTURE_SIDE 4000
/* A longer title is none. */
#define LIMIT_TITLE_CHARACTERS 300
/* From making a box to its driver's first word. */
#define LIMIT_BOX_SETUP_MS 10000
/* From the driver's last word to the end of its box. */
#define LIMIT_BOX_GRACE_MS 1000
/* What the output letter may hold beside the output: its ticket. */
#define LIMIT_OUTPUT_SLACK_BYTES 4096
/* A box's stack, as Debian's default. */
#define LIMIT_BOX_STACK_BYTES (8u * 1024 * 1024)
/* Signals that may wait, queued in kernel memory. */
#define LIMIT_BOX_SIGNALS 64
/* Where memory ends, each process of a box counts as half the machine: it goes
 * before all but what alone takes more. */
#define LIMIT_BOX_OOM_SCORE "500"

/* -- queue -------------------------------------------------------------- */
/* Connections at once: the workers and producers of one house, and strangers
 * until they are cut. One address cannot take all seats. */
#define LIMIT_QUEUE_CONNECTIONS		256
#define LIMIT_QUEUE_CONNECTIONS_ADDRESS 64
/* One connection's request line, headers and read buffer. A longer head is
 * answered 431. */
#define LIMIT_QUEUE_HEAD_BYTES (64 * 1024)
/* Bodies up to this stay in memory: a poll must wake no disk. */
#define LIMIT_QUEUE_MEMORY_BYTES (64 * 1024)
/* Bodies on disk of all requests together, before they are stored. */
#define LIMIT_QUEUE_SPOOL_BYTES (1024ull * 1024 * 1024)
/* A body that is refused is still read to its end, so that its sender reads
 * the answer instead of a broken connection; up to this, and for strangers up
 * to the next. */
#define LIMIT_QUEUE_SWALLOW_BYTES  (LIMIT_BODY_BYTES + 1024 * 1024)
#define LIMIT_QUEUE_STRANGER_BYTES (64 * 1024)
/* What a claim's answer says around the input, so that a job that was taken
 * fits a worker's own cap. */
#define LIMIT_QUEUE_FRAME_BYTES 1024
/* Milliseconds: from connecting to the end of the first head (a TLS handshake
 * included); between two requests (a worker keeps its connection 75 s); for
 * a request and its answer, and what each second above that must move. */
#define LIMIT_QUEUE_GREETING_MS 20000
#define LIMIT_QUEUE_IDLE_MS	90000
#define LIMIT_QUEUE_REQUEST_MS	30000
#define LIMIT_QUEUE_BYTES_PER_S (64 * 1024)
/* SIGTERM: requests in flight get this long. */
#define LIMIT_QUEUE_DRAIN_MS 10000
/* Tokens and the file they are in. */
#define LIMIT_QUEUE_TOKENS	 256
#define LIMIT_QUEUE_TOKENS_BYTES (256 * 1024)
#define LIMIT_QUEUE_TOKEN_MIN	 16
#define LIMIT_QUEUE_TOKEN_BYTES	 512
/* Names in one claim; the catalogue has 13. */
#define LIMIT_QUEUE_CAPABILITIES     64
#define LIMIT_QUEUE_CAPABILITY_BYTES 64
/* The "error" object of a failed result is a code and a sentence. */
#define LIMIT_QUEUE_ERROR_BYTES 4096
/* Jobs in one listing. */
#define LIMIT_QUEUE_LIST 1000
/* Ended holds remembered for each job, to answer a repeat. */
#define LIMIT_QUEUE_HOLDS 8
/* Jobs dropped or holds ended in one transaction. */
#define LIMIT_QUEUE_BATCH 16
/* Pages free in the database before some go back to the disk, and how many
 * then do at a time: 32 and 16 MiB. */
#define LIMIT_QUEUE_FREE_PAGES 8192
#define LIMIT_QUEUE_BACK_PAGES 4096
/* The queue's clock is saved at least so often while it runs. */
#define LIMIT_QUEUE_CLOCK_MS (60 * 60 * 1000)
/* Another program has the database: wait so long for it. */
#define LIMIT_QUEUE_BUSY_MS 2000

#endif
