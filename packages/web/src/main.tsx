import { QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { I18nProvider } from 'react-aria-components/I18nProvider'
import { createRoot } from 'react-dom/client'
import { newQueryClient } from './api/query.ts'
import { newRouter } from './routes.ts'
import { askBeforeShownAgain } from './shell/back-cache.ts'
import { reloadOnceWhenOld } from './shell/old-tab.ts'
import { applyTheme } from './ui/theme.ts'
import './ui/tokens.css'
import './ui/base.css'

applyTheme()
reloadOnceWhenOld()
const client = newQueryClient()
askBeforeShownAgain(client)
const router = newRouter(client)
// Its page asks for what it shows before the first drawing, and is part of it.
void router.load().then(() =>
	createRoot(document.getElementById('root') as HTMLElement).render(
		<QueryClientProvider client={client}>
			<I18nProvider locale="en-US">
				<RouterProvider router={router} />
			</I18nProvider>
		</QueryClientProvider>,
	),
)
