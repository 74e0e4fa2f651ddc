import type { Invoice } from '@remit/sdk'
import { useQuery } from '@tanstack/react-query'
import { Download } from 'lucide-react'
import { useEffect, useState } from 'react'
import { describe } from '../../api/errors.ts'
import { call } from '../../api/query.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { ErrorPanel } from '../../ui/error-panel.tsx'
import { Skeleton } from '../../ui/skeleton.tsx'
import './send-dialog.css'

/** The PDF that the client gets, inside the page where the browser can show one, and to download. */
export default function PdfDialog({ invoice, onClose }: { invoice: Invoice; onClose: () => void }) {
	const { id, version, invoiceNumber } = invoice
	const { data, error, refetch } = useQuery({
		queryKey: ['invoices', 'pdf', id, version],
		queryFn: ({ signal }) => call('invoices.pdf', id, { signal }),
		gcTime: 0,
	})
	const url = useBlob(data)
	const { isRepeatable, ...trouble } = describe(error)
	return (
		<Dialog
			title={`${invoiceNumber}.pdf`}
			width="wide"
			isOpen
			onClose={onClose}
			actions={
				<>
					<Button onPress={onClose}>Close</Button>
					{url && (
						<a className="button primary" href={url} download={`${invoiceNumber}.pdf`}>
							<Download aria-hidden="true" />
							Download
						</a>
					)}
				</>
			}
		>
			{error && <ErrorPanel isSmall {...trouble} onRetry={isRepeatable ? () => void refetch() : undefined} />}
			{!data && !error && <Skeleton rows={4} />}
			{url && navigator.pdfViewerEnabled && <iframe className="pdf-frame" src={url} title={`${invoiceNumber} as a PDF`} />}
			{url && !navigator.pdfViewerEnabled && <p>This browser shows no PDFs inside a page: download it.</p>}
		</Dialog>
	)
}

/** The address of bytes, for as long as they are shown. */
function useBlob(bytes: Uint8Array | undefined): string | undefined {
	const [url, setUrl] = useState<string>()
	useEffect(() => {
		if (!bytes) return
		const made = URL.createObjectURL(new Blob([bytes as Uint8Array<ArrayBuffer>], { type: 'application/pdf' }))
		setUrl(made)
		return () => URL.revokeObjectURL(made)
	}, [bytes])
	return url
}
