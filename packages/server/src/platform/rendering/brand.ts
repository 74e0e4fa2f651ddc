// What all renderings of the contract's InvoiceDocument share. The pages, the PDF and the e-mail render only that, so they cannot
// disagree. `presentInvoice` (billing/invoices/sharing/present.ts) makes it.
import type { DocumentLogo } from '../../generated/contract.ts'

/** The colour of links and buttons. */
export const defaultAccent = '#2d46c4'

/** The width and height of a logo that fits into a box. */
export function fitted({ width, height }: DocumentLogo, most: { width: number; height: number }) {
	const scale = Math.min(most.width / width, most.height / height)
	return { width: width * scale, height: height * scale }
}
