// Renders invoices as PDF/A-3b. A render computes for tens of milliseconds, so a worker thread does it. The thread starts with
// the first render and ends after a minute without one.
import { extname } from 'node:path'
import { Worker } from 'node:worker_threads'
import type { InvoiceDocument } from '../document.ts'

export interface PdfRenderer {
	/** The same document and meta give the same bytes. Rejects with Typst's message when Typst cannot set the document. */
	render(document: InvoiceDocument, meta: PdfMeta): Promise<Uint8Array>
	/** Rejects the renders under way. */
	close(): Promise<void>
}

export interface PdfMeta {
	/** Unix milliseconds. */
	readonly createdAt: number
}

/** A message to the thread (worker.ts), which answers requests in their order. */
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
		const pending = underWay.shift()
		if ('pdf' in answer) pending?.resolve(answer.pdf)
		else pending?.reject(new Error(answer.error))
		if (underWay.length === 0) worker.unref()
	})
	worker.on('error', (error: Error) => {
		failure = error
	})
	worker.on('exit', () => {
		up = false
		clearTimeout(idle)
		for (const pending of underWay.splice(0)) pending.reject(failure)
	})

	return {
		isUp: () => up,
		render(request) {
			const pending = Promise.withResolvers<Uint8Array>()
			worker.postMessage(request)
			underWay.push(pending)
			// Only a render under way keeps the process alive.
			worker.ref()
			idle.refresh()
			return pending.promise
		},
		end,
	}
}
