// Sends a long answer in parts, as fast as its caller takes them: the server holds about one part at a time. The parts of
// all long answers take turns with requests.
import type { Request, Response } from 'express'
import { loopTurns } from '../fair/turns.ts'

/** Throws what fails before the first part. What fails later breaks the connection: half an answer must not look whole. */
export async function sendParts(
	req: Pick<Request, 'context'>,
	res: Response,
	parts: AsyncIterable<string>,
	writeHead: () => void,
): Promise<void> {
	const owner = req.context.caller?.organizationId ?? ''
	try {
		for await (const part of parts) {
			if (!res.headersSent) writeHead()
			if (!res.write(part)) await taken(res)
			if (res.destroyed) return
			await loopTurns.take(owner)
		}
		res.end()
	} catch (err) {
		if (!res.headersSent) throw err
		const { log, requestId } = req.context
		log.error({ err, requestId }, 'an answer was broken off')
		// A reset also tells a caller of HTTP/1.0, whose answers end with the connection.
		res.socket?.resetAndDestroy()
	}
}

/** Until the caller has taken what was written, or is gone. */
async function taken(res: Response): Promise<void> {
	if (res.destroyed) return
	await new Promise<void>((resolve) => {
		const done = () => {
			res.off('drain', done).off('close', done)
			resolve()
		}
		res.on('drain', done).on('close', done)
	})
}
