// Invoices as PDF/A-3b. Setting one takes tens of milliseconds of plain computing, so a worker thread does it: started at
// the first render, and ended when nothing was rendered for a while.
import { extname } from 'node:path'
import { Worker } from 'node:worker_threads'
import type { InvoiceDocument } from '../document.ts'

export interface PdfRenderer {
	/** The same document and meta give the same bytes. Rejects with what Typst says when the document cannot be set. */
	render(document: InvoiceDocument, meta: PdfMeta): Promise<Uint8Array>
	/** Fails the renders under way. */
	close(): Promise<void>
}

export interface PdfMeta {
	/** Unix milliseconds. */
	readonly createdAt: number
}

/** What the thread takes (worker.ts), and what it answers, in the order in which it was asked. */
export interface RenderRequest extends PdfMeta {
	readonly document: InvoiceDocument
}
export type RenderAnswer = { readonly pdf: Uint8Array } | { readonly error: string }

const idleMs = 60_000

export function createPdfRenderer(): PdfRenderer {
	let thread: RenderThread | undefined
	return {
		async render(document, { createdAt }) {
			if (!thread?.isUp()) thread = startThread()
			return thread.render({ document, createdAt })
		},
		close: async () => thread?.end(),
	}
}

interface RenderThread {
	isUp(): boolean
	render(request: RenderRequest): Promise<Uint8Array>
	end(): Promise<void>
}

function startThread(): RenderThread {
	// A `.ts` in the sources, a `.js` in the build.
	const worker = new Worker(new URL(`worker${extname(import.meta.url)}`, import.meta.url))
	const underWay: PromiseWithResolvers<Uint8Array>[] = []
	let failure = new Error('The PDF thread ended')
	let up = true
	const end = async () => {
		up = false
		await worker.terminate()
	}
	const idle = setTimeout(() => (underWay.length === 0 ? void end() : idle.refresh()), idleMs).unref()

	worker.on('message', (answer: RenderAnswer) => {
		const asked = underWay.shift()
		if ('pdf' in answer) asked?.resolve(answer.pdf)
		else asked?.reject(new Error(answer.error))
		if (underWay.length === 0) worker.unref()
	})
	worker.on('error', (error: Error) => {
		failure = error
	})
	worker.on('exit', () => {
		up = false
		clearTimeout(idle)
		for (const asked of underWay.splice(0)) asked.reject(failure)
	})

	return {
		isUp: () => up,
		render(request) {
			const asked = Promise.withResolvers<Uint8Array>()
			worker.postMessage(request)
			underWay.push(asked)
			// Only a render under way keeps the process alive.
			worker.ref()
			idle.refresh()
			return asked.promise
		},
		end,
	}
}
